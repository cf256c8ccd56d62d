"""Frequent first names, by which names of people are recognized in text."""

from __future__ import annotations

FIRST_NAMES = frozenset(
    """
    adam ahmed aisha alan albert alejandro alessandro alex alexander alexandra alice alicia ali
    amanda amelia amina ana andrea andreas andrew angela anita ann anna anne antoine anton antonio
    anja barbara beatriz ben benjamin bernd birgit brian camille carla carlos carmen caroline
    catherine charles charlotte chiara christian christina christine christoph christopher claire
    clara claudia cristina daniel daniela david deborah diana diego dieter dominik donald dorothy
    edward elena elias elif elisabeth elizabeth ella emil emily emma eric erik eva fabian fatima
    felix fernando florian francesca francesco francois frank franz frederic friedrich gabriel
    gabriele george georg gerhard giovanni giulia giuseppe grace greta hannah hans harry heike
    heinrich helen helga helmut henry hugo ibrahim ines ingrid irene isabel isabella ivan jack
    jacob jakob james jan jana jane javier jean jennifer jessica joan johan johann johannes john
    jonas jorge jose joseph joshua juan judith julia julian julie jurgen jürgen karen karin karl
    katarzyna katharina katja kenneth kevin klaus laura laurent lea lena leo leon leonie lina linda
    lisa louis louise luca lucas lucia lucy luigi luis luisa lukas magdalena manuel manuela marc
    marco margaret maria marie mario mark marta martha martin martina mary mathilde matteo matthew
    matthias max maximilian maya mehmet mia michael michel michelle miguel mike mohamed mohammed
    monica monika muhammad mustafa nadia nancy natalia natalie nicholas nicolas nicole nina noah
    nora oliver olivia omar oscar pablo pamela patricia patrick paul paula pedro peter petra
    philipp philippe pierre piotr rachel rafael ralf raul rebecca renate richard robert roberto
    rosa ruth ryan sabine samuel sandra sara sarah sebastian sergio silvia simon simone sofia
    sophia sophie stefan stefanie stephanie stephen steven susan susanne sven teresa theresa thomas
    tim timothy tobias tom ulrich ursula uwe valentina vanessa victor victoria vincent walter
    werner william wolfgang yasmin yusuf zoe
    """.split()
)
